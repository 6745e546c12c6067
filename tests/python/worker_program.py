"""A worker as a process: worker_program.py BROKERS APPLICATION OPTIONS

OPTIONS are those of Worker, in JSON, and `gate`: a file that has to be there before anything is answered. A payload is
an object of JSON: {"takes_s": 1} takes so long."""
import json
import logging
import sys
import time
from pathlib import Path

from resequencer import Work, Worker


def main(brokers, application, more):
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(levelname)s %(message)s")
    options = json.loads(more)
    gate = options.pop("gate", None)

    def enrich(work: Work) -> str:
        document = json.loads(work.payload)
        logging.info("begun: %s", work.id)
        time.sleep(document.get("takes_s", 0))
        while gate is not None and not Path(gate).exists():
            time.sleep(0.02)
        return json.dumps({"enriched": document})

    worker = Worker(brokers, application, enrich, **options)
    worker.run()
    logging.info("ended: %s", worker.counts)


main(*sys.argv[1:])
