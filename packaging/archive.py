"""Packs a folder into a tar.gz whose bytes depend on its content only: sorted names, one time, no owner.

    python3 packaging/archive.py FOLDER FILE SECONDS
"""

import gzip
import os
import sys
import tarfile


def main(folder, file, time):
    def plain(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = time, 0, 0, "", ""
        is_executable = entry.isdir() or entry.mode & 0o100
        entry.mode = 0o755 if is_executable else 0o644
        return entry

    # `tarfile` visits folders in the order of their names.
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, time) as packed, tarfile.open(
        fileobj=packed, mode="w", format=tarfile.PAX_FORMAT
    ) as archive:
        archive.add(folder, os.path.basename(folder), filter=plain)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
