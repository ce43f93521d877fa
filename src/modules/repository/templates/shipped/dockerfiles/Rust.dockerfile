FROM rust:1-slim AS build
WORKDIR /src
COPY . .
RUN cargo install --locked --path . --root /usr/local

FROM debian:stable-slim
# The name of your program.
COPY --from=build /usr/local/bin/app /usr/local/bin/app
USER 65534
CMD ["app"]
