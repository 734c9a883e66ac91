# One image: `reprise` starts the engine and the studio, and stops both in order on SIGTERM.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /opt/reprise
COPY pyproject.toml README.md ./
COPY engine engine
COPY studio studio
COPY pages pages
COPY sample_workflows sample_workflows

# Bytecode is compiled at build time: a restart after a crash need not wait for it.
RUN pip install ".[postgres]" && python -m compileall -q engine studio pages sample_workflows \
    && useradd --create-home --uid 10001 reprise \
    && mkdir /data && chown reprise /data

USER reprise
VOLUME /data
EXPOSE 8501 8080
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/health', timeout=2)"]

# Inside a container the loopback reaches nobody: listen on all of its addresses and publish only
# the ports you mean to, for example `-p 127.0.0.1:8501:8501`.
ENTRYPOINT ["reprise"]
CMD ["--host", "0.0.0.0", "--port", "8501", "--engine-port", "8080", "--database", "sqlite:////data/reprise.db", "--no-browser"]
