"""A real control plane on this machine: etcd, kube-apiserver (TLS, RBAC, audit log), kube-controller-manager,
fake nodes.

    binaries        the programs: found, or built from the distribution's own source package
    control_plane   starts and stops them in a directory of their own, on loopback
    kubelet         the fake nodes of `reprieve.server`, as a client of any API server
    audit           who asked for what, and what was refused
    race            Reprieve and kube-scheduler in turn, on one of the `scenes`

For trying Reprieve where nothing is ours but Reprieve. `python -m tools.real_cluster --help`.
"""
