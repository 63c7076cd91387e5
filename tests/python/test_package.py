"""The package as a whole: version, public names, downloads."""

import http.server
import logging
import ssl
import subprocess
import threading

import pytest
import saccade


def test_version(program):
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    assert saccade.__version__ in done.stdout.split("\n")[0]


def test_public_names_exist():
    assert all(hasattr(saccade, name) for name in saccade.__all__)
    assert sorted(saccade.data.names()) == sorted(set(saccade.data.names()))
    assert {"mnist", "cifar10"} <= set(saccade.data.names())


def test_a_download_keeps_existing_files(tmp_path, caplog):
    """Files from an archive are kept, too."""
    names = [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin", "batches.meta.txt"]
    for name in names:
        (tmp_path / name).write_bytes(b"there")
    with caplog.at_level(logging.INFO, logger="saccade"):
        assert saccade.data.download("cifar10", tmp_path) == tmp_path
    assert "are there" in caplog.text
    assert (tmp_path / "test_batch.bin").read_bytes() == b"there"


def test_invalid_downloads_are_refused(tmp_path):
    with pytest.raises(saccade.InputError, match="unknown digit set 'mnits'; allowed: mnist, "):
        saccade.data.download("mnits", tmp_path)
    nowhere = "http://127.0.0.1:9/"
    with pytest.raises(RuntimeError, match="127.0.0.1"):
        saccade.data.download("mnist", tmp_path / "new", mirror=nowhere)


def test_downloads_trust_the_authorities_of_ssl_cert_file(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # It has no file: each request gets status 501.
    with http.server.HTTPServer(("localhost", 0), http.server.BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        mirror = f"https://localhost:{server.server_port}/"
        monkeypatch.setenv("no_proxy", "localhost")
        with pytest.raises(RuntimeError, match="certificate"):
            saccade.data.download("mnist", tmp_path / "new", mirror=mirror)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with pytest.raises(RuntimeError, match="HTTP status 501"):
            saccade.data.download("mnist", tmp_path / "new", mirror=mirror)
        server.shutdown()


def test_the_seed_of_a_run():
    for overrides in ({"seed": 3}, None):
        with pytest.raises(saccade.InputError, match="seed: "):
            saccade.train("quickstart", overrides, seed=3 if overrides else -1)
