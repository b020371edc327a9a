"""Files in object storage, by a server of the S3 protocol on this machine."""

from __future__ import annotations

import os
import time
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
    # Without an executor, files are copied once and read several times.
    places = list(Path(os.environ["ROBUST_TD_CACHE"]).rglob("*.parquet"))
    assert len(places) == 4
    for place in places:
        place.unlink()
    for workers in (1, 3):
        with LocalExecutor(workers) as executor:
            parts = rtd.evaluate("s3://logs/shard-*.parquet", discount=0.9, executor=executor)
        assert parts.to_dict() | {"seconds": 0} == found.to_dict() | {"seconds": 0}
    # With one, nothing is copied.
    assert not list(Path(os.environ["ROBUST_TD_CACHE"]).rglob("*.parquet"))
    one = rtd.evaluate("s3://logs/shard-00.parquet", discount=0.9)
    assert one.start_value == rtd.evaluate(f"{bucket}/shard-00.parquet", discount=0.9).start_value


def put(name: str, contents: bytes) -> None:
    store, _ = _storage.filesystem("s3://logs/x")
    with store.open_output_stream(f"logs/{name}") as stream:
        stream.write(contents)


def test_a_worker_reads_only_the_row_groups_of_its_part(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [name] = jobs.shards(tmp_path, count=1)
    whole = Path(name).read_bytes()
    put("large.parquet", whole)
    read: list[tuple[int, int]] = []
    plain = _storage.Ranges.read

    def noting(self: _storage.Ranges, place: str, start: int, length: int) -> bytes:
        read.append((start, length))
        return plain(self, place, start, length)

    monkeypatch.setattr(_storage.Ranges, "read", noting)
    by_part: dict[str, list[int]] = {}

    class Noting:
        """Computes the parts one by one, and notes the bytes that each reads."""

        workers = 1

        def run(self, job: Job, tell: object = None) -> bytes:
            states = []
            for k in range(len(job.tasks)):
                read.clear()
                states.append(job.compute(job.description, job.tasks[k]))
                by_part.setdefault(job.name, []).append(sum(length for _, length in read))
                # At most one column of one row group at a time, or the end of the file.
                assert max(length for _, length in read) <= 1 << 20
            return job.merge(job.description, states)

    found = rtd.evaluate("s3://logs/large.parquet", discount=0.9, executor=Noting())
    alone = rtd.evaluate(name, discount=0.9)
    assert found.start_value == alone.start_value and (found.theta == alone.theta).all()
    # Three parts of 560,000 rows: 47 %, 47 % and 6 % of them. The footer is enough to count rows.
    assert by_part["rows"][0] < 0.05 * len(whole)
    for pass_ in ("survey", "equations", "scores"):
        shares = [count / len(whole) for count in by_part[pass_]]
        assert len(shares) == 3 and 0.4 < shares[0] < 0.6 and 0.4 < shares[1] < 0.6 and shares[2] < 0.2, (pass_, shares)


def test_text_in_object_storage_is_read_from_where_a_part_starts(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    parquet = pytest.importorskip("pyarrow.parquet")
    [name] = jobs.shards(tmp_path, count=1)
    csv.write_csv(parquet.read_table(name), tmp_path / "log.csv")
    text = (tmp_path / "log.csv").read_bytes()
    put("log.csv", text)
    starts: list[int] = []
    plain = _storage.Ranges.read

    def noting(self: _storage.Ranges, place: str, start: int, length: int) -> bytes:
        starts.append(start)
        return plain(self, place, start, length)

    monkeypatch.setattr(_storage.Ranges, "read", noting)
    last: dict[str, list[int]] = {}

    class Noting:
        workers = 1

        def run(self, job: Job, tell: object = None) -> bytes:
            states = []
            for k in range(len(job.tasks)):
                starts.clear()
                states.append(job.compute(job.description, job.tasks[k]))
            last[job.name] = list(starts)
            return job.merge(job.description, states)

    found = rtd.evaluate("s3://logs/log.csv", discount=0.9, executor=Noting())
    alone = rtd.evaluate(str(tmp_path / "log.csv"), discount=0.9)
    assert found.to_dict() | {"seconds": 0, "findings": 0} == alone.to_dict() | {"seconds": 0, "findings": 0}
    # The last of three parts reads the header, then the rows from near its start on.
    for pass_ in ("survey", "equations"):
        assert last[pass_][0] == 0 and min(last[pass_][1:]) > 0.8 * len(text), last[pass_]


def test_a_file_that_changes_is_refused(bucket: str, tmp_path: Path) -> None:
    [name] = jobs.shards(tmp_path, rows=20_000, count=1)
    put("changing.parquet", Path(name).read_bytes())

    class Changing:
        workers = 1
        inside = LocalExecutor(1)

        def run(self, job: Job, tell: object = None) -> bytes:
            if job.name == "equations":
                time.sleep(1.1)
                put("changing.parquet", Path(name).read_bytes())
                _storage._opened.cache_clear()
            return self.inside.run(job)

    with pytest.raises(rtd.Error, match="s3://logs/changing.parquet has changed"):
        rtd.evaluate("s3://logs/changing.parquet", discount=0.9, executor=Changing())
    with pytest.raises(rtd.Error, match="is named twice"):
        rtd.evaluate(["s3://logs/changing.parquet", "s3://logs/chang*.parquet"], discount=0.9)


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
