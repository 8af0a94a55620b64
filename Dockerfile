# The static program and nothing else: no shell, no libraries.
#   docker build -t retrylint .
#   docker run --rm -v "$PWD:/repository:ro" retrylint
FROM rust:1-alpine AS build
# The C start-up files that a static program is linked with; their version is that of the image.
# hadolint ignore=DL3018
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY rules rules
COPY src src
RUN cargo build --release --locked

FROM scratch
COPY --from=build /src/target/release/retrylint /retrylint
USER 65534:65534
WORKDIR /repository
ENTRYPOINT ["/retrylint"]
