# One image for all processes; docker-compose.yml says which one a container runs.
# glibc is needed (Temporal's core has no musl build), so no Alpine. `npm run base-image` sets the newest digest.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY client/package.json ./client/
COPY dashboard/package.json ./dashboard/
COPY packages/mime-structure/package.json ./packages/mime-structure/
COPY packages/mail-store/package.json ./packages/mail-store/
COPY packages/imap/package.json ./packages/imap/
COPY packages/pop3/package.json ./packages/pop3/
COPY integrations/tools/package.json ./integrations/tools/
COPY integrations/n8n/package.json ./integrations/n8n/
RUN npm ci --omit=dev --no-audit --no-fund
COPY . .
# Builds the pages and the workflows, and collects what the processes load.
RUN node dev/build/build-image-folder.ts /image

FROM ${NODE_IMAGE}
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=build /image/node_modules ./node_modules
COPY --from=build /image/service ./
# The commands of the operators: `docker compose run --rm migrate agent-mailbox-admin help`.
RUN mkdir -p /usr/local/bin && ln -s /app/operations/agent-mailbox-admin.mjs /usr/local/bin/agent-mailbox-admin
# A named volume takes over owner and mode of the folder it is mounted on first.
RUN mkdir /data && chown node:node /data && chmod 700 /data
VOLUME /data
USER node
# Of whichever process runs: each answers on METRICS_PORT, unless that is switched off. Nothing but /data is written, so the root may be read-only.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const port = process.env.METRICS_PORT || '9464'; port === '0' || fetch(`http://127.0.0.1:${port}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "api/main.ts"]
