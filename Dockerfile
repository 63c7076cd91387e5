# An image with the program, built from this repository alone, for x86-64 and arm64:
#   docker build -t saccade .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" saccade run quickstart
FROM debian:12 AS build
WORKDIR /saccade
COPY scripts/install-deps scripts/
RUN scripts/install-deps --program-only
COPY . .
# For processors of the last ten years, not only for the one that runs this build.
RUN case "$(dpkg --print-architecture)" in amd64) arch=x86-64-v3 ;; *) arch= ;; esac && \
    cmake --preset release -DSACCADE_NATIVE=OFF -DSACCADE_ARCH=$arch && \
    cmake --build --preset release --parallel "$(nproc)" && \
    cd build/release && cpack -G DEB && mv saccade_*.deb /saccade.deb

FROM debian:12
COPY --from=build /saccade.deb /tmp/saccade.deb
# Any user id may write to /work.
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/saccade.deb && \
    apt-get clean && rm -rf /tmp/saccade.deb /var/lib/apt/lists/* && \
    install -d -m 1777 /work
USER 1000:1000
WORKDIR /work
# Datasets go to .cache/saccade in the folder mounted there.
ENV XDG_CACHE_HOME=/work/.cache
ENTRYPOINT ["saccade"]
CMD ["--help"]
