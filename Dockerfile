# The service as an image: what `npm run pack` makes, installed on a small Debian with Node.js, without npm.
#
#   docker build -t sensorium .
#   docker run -p 8080:8080 -v sensorium:/data --read-only --tmpfs /tmp sensorium
#
# docs/docker.md says more. Both bases can be replaced, by mirrors say; `RUN_ON` needs glibc and libstdc++.
ARG BUILD_ON=docker.io/library/node:24-bookworm-slim
ARG RUN_ON=docker.io/library/debian:bookworm-slim

FROM ${BUILD_ON} AS build
WORKDIR /src
COPY . .
# The embedding runtime's own install step would fetch GPU binaries; the packages need none of it.
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run pack --ignore-scripts -- --here --to /tarballs
WORKDIR /app
RUN echo '{ "private": true }' > package.json \
  && npm install --omit=dev --ignore-scripts --no-audit --no-fund /tarballs/*.tgz \
  && rm package.json package-lock.json \
  && mkdir /empty

FROM ${RUN_ON}
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
# Nobody in particular: a number needs no entry in /etc/passwd, and orchestrators can check that it is not root.
COPY --from=build --chown=10001:10001 --chmod=700 /empty /data
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 PORT=8080
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/sensorium/bin/sensorium.js"]
CMD ["start"]
