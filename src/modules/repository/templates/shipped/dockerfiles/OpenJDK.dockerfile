FROM maven:3-eclipse-temurin-21 AS build
WORKDIR /src
COPY pom.xml ./
RUN mvn --batch-mode dependency:go-offline
COPY src ./src
RUN mvn --batch-mode package

FROM eclipse-temurin:21-jre
WORKDIR /app
# The name of the archive that your build creates.
COPY --from=build /src/target/app.jar ./
USER 65534
EXPOSE 8080
CMD ["java", "-jar", "app.jar"]
