{{- define "agent-mailbox.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "agent-mailbox.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "agent-mailbox.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "agent-mailbox.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "agent-mailbox.selector" -}}
app.kubernetes.io/name: {{ include "agent-mailbox.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent-mailbox.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "agent-mailbox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "agent-mailbox.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- define "agent-mailbox.serviceAccount" -}}
{{ default (include "agent-mailbox.fullname" .) .Values.serviceAccount.existingName }}
{{- end }}

{{- define "agent-mailbox.secretName" -}}
{{ default (include "agent-mailbox.fullname" .) .Values.secrets.existingSecret }}
{{- end }}

{{/* What all processes are set to. */}}
{{- define "agent-mailbox.settings" -}}
{{- $own := dict
  "MODE" "production"
  "DATA_DIR" "/data"
  "API_HOST" "0.0.0.0"
  "API_PORT" "8080"
  "METRICS_PORT" "9464"
  "SHUTDOWN_DEADLINE_SECONDS" "40"
  "MAIL_HOST" "0.0.0.0"
  "SMTP_PORT" "2525"
  "SUBMISSIONS_PORT" "1465"
  "SUBMISSION_PORT" "1587"
  "IMAPS_PORT" "1993"
  "IMAP_PORT" "1143"
  "POP3S_PORT" "1995"
  "POP3_PORT" "1110"
}}
{{- with .Values.mail.service.ports }}
{{- range $name, $port := dict "SUBMISSION" .submissions "SUBMISSION_STARTTLS" .submission "IMAP" .imaps "POP3" .pop3s }}
{{- if $port }}{{ $_ := set $own (printf "MAIL_PUBLIC_%s_PORT" $name) (toString $port) }}{{ end }}
{{- end }}
{{- end }}
{{- if .Values.api.ingress.enabled }}{{ $_ := set $own "API_PUBLIC_URL" (printf "https://%s" .Values.api.ingress.host) }}{{ end }}
{{- range $name, $value := mergeOverwrite $own .Values.settings }}
{{ $name }}: {{ include "agent-mailbox.text" $value | quote }}
{{- end }}
{{- end }}

{{/* A large number is not written as 1e+06. */}}
{{- define "agent-mailbox.text" -}}
{{- if kindIs "float64" . }}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}{{ else }}{{ toString . }}{{ end -}}
{{- end }}

{{- define "agent-mailbox.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "agent-mailbox.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities:
  drop: [ALL]
{{- end }}
