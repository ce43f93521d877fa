FROM python:3-slim
ENV PYTHONUNBUFFERED=1
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir --requirement requirements.txt
COPY . .
USER 65534
# The port on which your program listens.
EXPOSE 8000
CMD ["python", "app.py"]
