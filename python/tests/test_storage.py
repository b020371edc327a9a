"""Files in object storage, by a server of the S3 protocol on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import cluster_jobs as jobs
import pytest

import robust_td as rtd
from robust_td import _storage
from robust_td.executor import Job, LocalExecutor

moto = pytest.importorskip("moto.server")
fs = pytest.importorskip("pyarrow.fs")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A bucket with four shards."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    known = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "ROBUST_TD_CACHE": str(tmp_path_factory.mktemp("cache")),
    }
    before = {name: os.environ.get(name) for name in known}
    os.environ.update(known)
    store, _ = _storage.filesystem("s3://logs/x")
    store = fs.S3FileSystem(endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True)
    store.create_dir("logs")
    folder = tmp_path_factory.mktemp("shards")
    for name in jobs.shards(folder, rows=20_000, count=4):
        with store.open_output_stream(f"logs/{Path(name).name}") as stream:
            stream.write(Path(name).read_bytes())
    yield str(folder)
    server.stop()
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def test_an_evaluation_of_objects_is_that_of_files(bucket: str, tmp_path: Path) -> None:
    alone = rtd.evaluate(f"{bucket}/*.parquet", discount=0.9)
    found = rtd.evaluate("s3://logs/shard-*.parquet", discount=0.9)
    assert found.start_value == alone.start_value and (found.theta == alone.theta).all()
    # Workers fetch what they need, where it is not there yet.
    places = list(Path(os.environ["ROBUST_TD_CACHE"]).rglob("*.parquet"))
    assert len(places) == 4
    for place in places:
        assert place.stat().st_size > 0
        place.unlink()
    before = []

    class Elsewhere:
        """Removes the files of the driver first, as on another machine."""

        workers = 1
        inside = LocalExecutor(1)

        def run(self, job: Job, tell: object = None) -> bytes:
            places = list(Path(os.environ["ROBUST_TD_CACHE"]).rglob("*.parquet"))
            before.append(len(places))
            for place in places:
                place.unlink()
            return self.inside.run(job)

    parts = rtd.evaluate("s3://logs/shard-*.parquet", discount=0.9, executor=Elsewhere())
    # The driver needs the first file only.
    assert before[0] == 1
    assert parts.to_dict() | {"seconds": 0} == found.to_dict() | {"seconds": 0}
    one = rtd.evaluate("s3://logs/shard-00.parquet", discount=0.9)
    assert one.start_value == rtd.evaluate(f"{bucket}/shard-00.parquet", discount=0.9).start_value


def test_a_checkpoint_in_object_storage(bucket: str) -> None:
    job = Job("marks", b"", [(k, 0, "") for k in range(70)], jobs.written, jobs.bracketed)
    states = []
    for restored in (0, 70):
        with LocalExecutor(2, checkpoint="s3://logs/checkpoint") as executor:
            states.append(executor.run(job))
            assert executor.measured.restored == restored
    assert states[0] == states[1]


def test_what_is_missing_is_named_by_its_uri(bucket: str) -> None:
    for uri in ("s3://logs/none.parquet", "s3://logs/none-*.parquet", "nowhere://x/y.csv"):
        with pytest.raises(rtd.Error) as error:
            rtd.evaluate(uri, discount=0.9)
        assert uri in str(error.value)
    store, _ = _storage.filesystem("s3://logs/x")
    with store.open_output_stream("logs/bad.csv") as stream:
        stream.write(b"obs_0,reward\n1,2\nx,3\n")
    with pytest.raises(rtd.Error, match="s3://logs/bad.csv: row 2"):
        rtd.evaluate("s3://logs/bad.csv", discount=0.9)
