"""Does the embedded server answer as a real kube-apiserver does? One conversation, two servers, a list of
differences.

    conversation/   what is asked: requests as data, one file for each scene
    talk            the shape of a conversation, and the life of an object that every kind goes through
    player          sends the requests of a scene to a server and takes down the answers
    normalise       takes out of answers what differs from run to run: uids, versions, times, addresses
    answers/        what kube-apiserver answered, normalised, as observed by `record`
    book            reads and writes these files
    compare         lists differences by what they are about; `known.yaml` says which ones are known, and why
    recorder        a proxy that takes down what kubectl or a client library asks, as a scene

`python -m tools.fidelity --help`. The answers are data, so comparing needs no real server; recording does
(`tools.real_cluster`).
"""
