# The programs of this project on Debian 12. Its steps are those of docs/dependencies.md.
FROM debian:12 AS build
COPY script/deps /source/script/deps
RUN /source/script/deps run
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DRESEQ_TESTS=OFF \
  && cmake --build /build --target programs

FROM debian:12
RUN apt-get -qq update \
  && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends ca-certificates git librdkafka1 \
    libboost-container1.74.0 libfmt9 liblmdb0 libspdlog1.10 libsqlite3-0 libtomlplusplus3 libxxhash0 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --user-group resequencer \
  && install --directory --owner=resequencer --group=resequencer --mode=0700 /var/lib/resequencer
COPY --from=build /build/bin/ /usr/local/bin/
USER resequencer
VOLUME /var/lib/resequencer
ENTRYPOINT ["resequencer"]
CMD ["run", "--config", "/etc/resequencer/resequencer.toml"]
