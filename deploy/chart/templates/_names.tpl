{{- /* One label for everything, as `reprieve manifests deploy` sets it: one installation a cluster. */}}
{{- define "reprieve.labels" -}}
app.kubernetes.io/name: reprieve
{{- end }}

{{- define "reprieve.metadata" -}}
name: reprieve
labels:
  {{- include "reprieve.labels" . | nindent 2 }}
namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "reprieve.subjects" -}}
- kind: ServiceAccount
  name: reprieve
  namespace: {{ .Release.Namespace }}
{{- end }}
