"""A worker as a process: worker_program.py BROKERS APPLICATION OPTIONS

OPTIONS are those of Worker, in JSON, and `gate`: a file that has to be there before anything is answered, and
`coroutines`: true. A payload is an object of JSON: {"takes_s": 1} takes so long, unless the option `takes_s`
says it."""
import asyncio
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
    coroutines = options.pop("coroutines", False)
    takes_s = options.pop("takes_s", None)

    def pauses(work: Work):
        """Seconds, one pause after the other."""
        logging.info("begun: %s", work.id)
        yield json.loads(work.payload).get("takes_s", 0) if takes_s is None else takes_s
        while gate is not None and not Path(gate).exists():
            yield 0.02

    def answer(work: Work) -> str:
        return json.dumps({"enriched": json.loads(work.payload)})

    def enrich(work: Work) -> str:
        for pause in pauses(work):
            time.sleep(pause)
        return answer(work)

    async def enrich_meanwhile(work: Work) -> str:
        for pause in pauses(work):
            await asyncio.sleep(pause)
        return answer(work)

    worker = Worker(brokers, application, enrich_meanwhile if coroutines else enrich, **options)
    if coroutines:
        asyncio.run(worker.run_async())
    else:
        worker.run()
    logging.info("ended: %s", worker.counts)


main(*sys.argv[1:])
