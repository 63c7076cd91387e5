# The program in an image that needs nothing but this repository:
#   docker build -t saccade . && docker run --rm -v "$PWD/runs:/work/runs" saccade run quickstart
FROM debian:12 AS build
COPY . /saccade
WORKDIR /saccade
RUN apt-get update && scripts/install-deps --program-only
# For processors of the last ten years, not only for the one that builds.
RUN cmake --preset release -DSACCADE_NATIVE=OFF -DSACCADE_ARCH=x86-64-v3 && \
    cmake --build --preset release --parallel "$(nproc)" && \
    cd build/release && cpack -G DEB && mv saccade_*.deb /saccade.deb

FROM debian:12
COPY --from=build /saccade.deb /tmp/saccade.deb
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/saccade.deb && \
    rm -rf /tmp/saccade.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["saccade"]
CMD ["--help"]
