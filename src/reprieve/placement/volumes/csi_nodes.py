"""What CSINodes say, as columns: limits and installed drivers, and where in-tree plugins are migrated."""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask
from reprieve.objects import well_known

NO_LIMIT = -1


class CSINodeColumns:
    def __init__(self, cluster: Cluster) -> None:
        nodes, self.version = cluster.nodes, cluster.storage.version
        self._slots = nodes.slots
        self.present: Mask = np.zeros(nodes.slots, dtype=np.bool_)
        self.limited: Mask = np.zeros(nodes.slots, dtype=np.bool_)
        """Nodes with a limit for some driver."""
        self._limits: dict[str, Ints] = {}
        self._installed: dict[str, Mask] = {}
        self._migrated: dict[str, Mask] = {}
        for name, found in cluster.storage.csi_nodes.items():
            slot = nodes.slot_of.get(name)
            if slot is None:
                continue
            self.present[slot] = True
            for driver in found.spec.drivers:
                self._column(self._installed, driver.name)[slot] = True
                count = driver.allocatable.count if driver.allocatable is not None else None
                if count is not None:
                    self.limited[slot] = True
                    limits = self._limits.get(driver.name)
                    if limits is None:
                        limits = self._limits[driver.name] = self.limit(driver.name)
                    limits[slot] = count
            for plugin in found.metadata.annotations.get(well_known.MIGRATED_PLUGINS, "").split(","):
                if plugin:
                    self._column(self._migrated, plugin)[slot] = True

    def _column(self, table: dict[str, Mask], name: str) -> Mask:
        if name not in table:
            table[name] = np.zeros(self._slots, dtype=np.bool_)
        return table[name]

    def limit(self, driver: str) -> Ints:
        """How many volumes of the driver each node takes, `NO_LIMIT` where nobody says."""
        found = self._limits.get(driver)
        return np.full(self._slots, NO_LIMIT, dtype=np.int64) if found is None else found

    def installed(self, driver: str) -> Mask:
        found = self._installed.get(driver)
        return np.zeros(self._slots, dtype=np.bool_) if found is None else found

    def migrated(self, plugin: str) -> Mask:
        found = self._migrated.get(plugin)
        return np.zeros(self._slots, dtype=np.bool_) if found is None else found


def csi_nodes(cluster: Cluster) -> CSINodeColumns:
    """Cached until a CSINode changes, or a node comes or goes."""
    found: CSINodeColumns | None = cluster.lasting.get("csi nodes")
    if found is None or found.version != cluster.storage.version:
        found = cluster.lasting["csi nodes"] = CSINodeColumns(cluster)
    return found
