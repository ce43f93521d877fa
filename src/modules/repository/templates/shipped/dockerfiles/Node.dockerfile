FROM node:lts-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
USER node
# The port on which your program listens.
EXPOSE 3000
CMD ["npm", "start"]
