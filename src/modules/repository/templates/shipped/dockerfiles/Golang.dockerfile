FROM golang:1 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -o /app .

FROM scratch
COPY --from=build /app /app
USER 65534
# The port on which your program listens.
EXPOSE 8080
ENTRYPOINT ["/app"]
