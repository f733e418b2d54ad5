"""What people do with kubectl, as commands and what stands behind `-f -`."""

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {color: red, size: "1"}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1
        ports: [{containerPort: 80}]
        resources: {requests: {cpu: 500m, memory: 1024Mi}}
        readinessProbe: {httpGet: {port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 80}]}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: kubectl-node}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""
STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "postgres:1"}]}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
"""
BROKEN = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: broken}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: []}}}
"""

_FILE = ("-f", "-")


def _plain(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(tuple(line.split()), "") for line in text.strip().splitlines() if line.strip()]


COMMANDS: list[tuple[tuple[str, ...], str]] = [
    *_plain("create configmap made --from-literal=a=1\nget configmap made -o yaml"),
    (("apply", *_FILE), SETTINGS),
    (("apply", *_FILE), SETTINGS.replace("red", "blue")),
    (("diff", *_FILE), SETTINGS),
    (("apply", *_FILE), SETTINGS),
    (("apply", *_FILE), WEB),
    (("apply", *_FILE), WEB.replace("replicas: 2", "replicas: 3")),
    # From the client's side to the server's: what kubectl applied before is its own.
    (("apply", "--server-side", *_FILE), SETTINGS.replace("red", "pink")),
    (("apply", "--server-side", *_FILE), WEB.replace("nginx:1", "nginx:2")),
    (("apply", "--server-side", "--field-manager=somebody", *_FILE), SETTINGS.replace("red", "black")),
    (
        ("apply", "--server-side", "--force-conflicts", "--field-manager=somebody", *_FILE),
        SETTINGS.replace("red", "red"),
    ),
    (("apply", *_FILE), BROKEN),
    (("create", *_FILE), STATEFUL),
    (("create", *_FILE), STATEFUL),
    (("create", *_FILE), NODE),
    *_plain(
        """
        edit configmap settings
        get configmaps
        get deployments,services,statefulsets -o wide
        get deployment web -o json
        get all
        get pods -o wide
        get nodes
        get nodes -o wide
        get configmaps --selector app=web
        get configmaps --field-selector metadata.name=settings
        get configmap settings -o jsonpath={.data.color}
        get configmap nobody
        get nobodies
        describe deployment web
        describe configmap settings
        describe node kubectl-node
        label configmap settings tier=gold
        label configmap settings tier=silver
        label configmap settings tier=silver --overwrite
        label configmap settings tier-
        annotate deployment web note=x
        patch deployment web -p {"spec":{"replicas":4}}
        patch deployment web --type=merge -p {"spec":{"paused":true}}
        patch deployment web --type=json -p [{"op":"remove","path":"/spec/paused"}]
        patch deployment web --type=json -p [{"op":"test","path":"/spec/replicas","value":9}]
        patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":5}}
        scale deployment web --replicas=1
        scale deployment web --current-replicas=9 --replicas=2
        set image deployment/web web=nginx:3
        set env deployment/web COLOR=red
        set resources deployment/web --limits=cpu=1000m,memory=2048Mi
        set serviceaccount deployment/web default
        rollout restart deployment/web
        rollout pause deployment/web
        rollout resume deployment/web
        rollout history deployment/web
        rollout undo deployment/web
        autoscale deployment web --min=1 --max=3 --cpu=80%
        expose deployment web --name=web2 --port=81
        run one --image=busybox:1 --restart=Never --labels=app=one -- sleep 1
        run one --image=busybox:1
        create job once --image=busybox:1
        create cronjob often --image=busybox:1 --schedule=@hourly
        create job again --from=cronjob/often
        create secret generic pass --from-literal=k=v
        create serviceaccount robot
        create token robot
        create token robot --duration=1h --audience=me
        create role reader --verb=get,list --resource=pods,configmaps
        create rolebinding read --role=reader --serviceaccount=fidelity-kubectl:robot
        create clusterrole kubectl-all --verb=* --resource=pods
        create clusterrolebinding kubectl-all --clusterrole=kubectl-all --user=me
        create quota few --hard=pods=2,requests.cpu=1000m
        create poddisruptionbudget web --selector=app=web --min-available=1
        create priorityclass kubectl-high --value=1000
        create ingress web --rule=example.com/=web:80
        create service nodeport door --tcp=80:8080
        create namespace kubectl-space
        create deployment quick --image=nginx:1 --replicas=2
        auth can-i create pods
        auth can-i --list
        auth whoami
        get serviceaccounts,secrets,roles,rolebindings,resourcequotas,poddisruptionbudgets
        get cronjobs,jobs,ingresses,services,horizontalpodautoscalers
        get priorityclass kubectl-high
        get events
        events
        taint node kubectl-node a=b:NoSchedule
        cordon kubectl-node
        uncordon kubectl-node
        drain kubectl-node --ignore-daemonsets
        wait --for=jsonpath={.data.color}=green --timeout=5s configmap/settings
        wait --for=create --timeout=5s configmap/settings
        explain deployment.spec.strategy
        api-resources --api-group=apps
        delete pod one --grace-period=1 --wait=false
        delete pod one --now --wait=false
        delete pod one --force
        delete job once --wait=false
        delete job again --cascade=orphan --wait=false
        delete cronjob often --cascade=foreground --wait=false
        delete deployment quick --wait=false
        delete configmaps --selector app=web --wait=false
        delete configmap made nobody --wait=false
        delete configmap made --ignore-not-found
        delete services --all --wait=false
        delete statefulset db --cascade=orphan --wait=false
        delete node kubectl-node
        delete clusterrole,clusterrolebinding kubectl-all
        delete priorityclass kubectl-high
        delete namespace kubectl-space --wait=false
        """
    ),
    (("replace", *_FILE), SETTINGS),
    (("create", *_FILE), SETTINGS),
    (("replace", *_FILE), SETTINGS.replace("red", "white")),
    (("replace", "--force", *_FILE), SETTINGS),
    (("delete", *_FILE, "--wait=false"), SETTINGS),
    (("create", "--dry-run=server", *_FILE), WEB),
    (("create", "--validate=strict", *_FILE), SETTINGS + "bogus: 1\n"),
    (("create", "--validate=warn", *_FILE), SETTINGS + "bogus: 1\n"),
]
