# syntax=docker/dockerfile:1
# Builds with: docker build -t stithy .
# The container starts as any user id with an outside PostgreSQL (STITHY_DATABASE_URL), and as its own user, 10001, also with the
# PostgreSQL that it contains. The root may be read-only: the container writes to /data and /tmp only.

FROM node:24-bookworm-slim AS build
# The packaged Node needs libatomic, which slim images lack.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/stithy
COPY package.json package-lock.json .npmrc ./
# With the optional packages: they contain the Node and the PostgreSQL that Stithy is tested with.
RUN npm ci --omit=dev --no-audit --no-fund
COPY bin ./bin
COPY src ./src
COPY LICENSE README.md ./
# Makes the bundle that starts run, which the read-only root of a container cannot get later. It is found by the times of the sources,
# which layers cut to seconds.
RUN find bin src -type f -exec touch -d 2000-01-01 {} + && node bin/stithy.js --version
# The programs must be readable and executable by any user id.
RUN chmod -R a+rX .

FROM debian:bookworm-slim
# Any git from 2.38 on; Debian 12 has 2.39.
RUN apt-get update \
  && apt-get install -y --no-install-recommends git ca-certificates libatomic1 \
  && rm -rf /var/lib/apt/lists/* \
  # PostgreSQL starts only as a user with a name.
  && useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin stithy \
  && mkdir -m 1777 /data
COPY --from=build /opt/stithy /opt/stithy
COPY packaging/container-entry.sh /usr/local/bin/stithy
RUN chmod 755 /usr/local/bin/stithy
ENV STITHY_DATA_DIR=/data/stithy STITHY_HTTP_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080 2222
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s CMD ["stithy", "healthcheck"]
ENTRYPOINT ["stithy"]
CMD ["serve"]
