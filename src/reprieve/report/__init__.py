"""A simulation as one HTML file that people want to look at, and as pictures for papers.

    study = Study("jobs.csv", trace, tasks, results, metrics)    # of `reprieve.simulate`, with `Task.record`
    Path("report.html").write_text(page(study))
    write_plots(study, "figures")                                # needs the extra `plots`

study, columns         what is compared; its results as columns
verdict                the numbers that people compare, in sentences
over_time, waiting     use and queue; waiting by class
flows, drawing         who made way for whom; pictures that need no script
gantt, lanes           nodes over time, as compact columns
cases                  the twenty worst jobs, and why
sections, page         the parts of the page; all of it, with what it may load: nothing
plots                  the same pictures as SVG and PNG
"""

from reprieve.report.page import page
from reprieve.report.plots import require_plots, write_plots
from reprieve.report.study import Study

__all__ = ["Study", "page", "require_plots", "write_plots"]
