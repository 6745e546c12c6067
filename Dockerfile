# The programs on Debian 13, whose librdkafka logs in with SCRAM at Kafka 4, from the same packages that a host of that
# release gets (docs/deployment.md).
#   docker build --tag resequencer .
#   docker build --tag resequencer-demo --target demo .
FROM debian:13-slim AS build
WORKDIR /source
COPY . .
RUN script/package

FROM debian:13-slim AS base
RUN --mount=type=bind,from=build,source=/source,target=/source \
  /source/deploy/docker/install /source/build/package/resequencer_*.deb
# resequencer, see deploy/docker/install.
USER 900:900
WORKDIR /var/lib/resequencer
VOLUME /var/lib/resequencer

FROM base AS demo
USER 0
RUN --mount=type=bind,from=build,source=/source,target=/source \
  /source/deploy/docker/install /source/build/package/resequencer-demo_*.deb
USER 900:900

FROM base AS resequencer
ENTRYPOINT ["resequencer"]
CMD ["run", "--config", "/etc/resequencer/resequencer.toml"]
