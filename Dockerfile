# Two images: `app`, a process of dpviz, and `proxy`, which compose.yaml puts before several of them.
#   docker build --target app -t dpviz . && docker run -p 8501:8501 dpviz
# The base images are named by tags, which move. For a build that can be repeated, write the digest behind the tag
# (debian:bookworm-slim@sha256:…), as `docker buildx imagetools inspect debian:bookworm-slim` shows it.

FROM debian:bookworm-slim AS proxy
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nginx \
    && rm -rf /var/lib/apt/lists/* /etc/nginx/sites-enabled/default \
    && sed -i 's,^user .*,,; s,^pid .*,pid /tmp/nginx.pid;,; s,^error_log .*,error_log /dev/stderr;,; \
        s,worker_connections .*,worker_connections 16384;,; s,access_log .*,access_log off;,' /etc/nginx/nginx.conf \
    && ln -sf /dev/stdout /var/log/nginx/dpviz.log \
    && ln -sf /dev/stderr /var/log/nginx/dpviz.error.log \
    && chown -R www-data /var/lib/nginx /var/log/nginx
COPY .streamlit/campus/nginx.conf /etc/nginx/conf.d/dpviz.conf
USER www-data
EXPOSE 8080
CMD ["nginx", "-g", "daemon off; worker_rlimit_nofile 32768;"]

FROM python:3.11-slim-bookworm AS app
WORKDIR /app
COPY .streamlit/campus/requirements.lock ./
RUN pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock \
    && useradd --system --uid 10001 --home-dir /rooms dpviz \
    && install -d -o dpviz /rooms
COPY LICENSE app.py ./
COPY .streamlit/config.toml .streamlit/
COPY dpviz dpviz
COPY pages pages
RUN python -m compileall -q app.py dpviz pages
USER dpviz
VOLUME /rooms
ENV DPVIZ_ROOMS=sqlite:////rooms/rooms.sqlite \
    OPENBLAS_NUM_THREADS=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_BASE_URL_PATH=
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["python", "-c", "import os, urllib.request; \
path = os.environ['STREAMLIT_SERVER_BASE_URL_PATH']; \
urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"STREAMLIT_SERVER_PORT\"]}/{path and path + \"/\"}_stcore/health', timeout=4)"]
CMD ["python", "-m", "streamlit", "run", "app.py"]
