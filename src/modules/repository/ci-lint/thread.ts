import { parentPort, workerData } from 'node:worker_threads'
import type { FromThread, Task, ToThread } from './check.ts'
import { lintPipeline } from './lint.ts'
import type { ReadFile } from './result.ts'

/** The thread of one check. It asks for the files that the configuration includes, and ends with the result. */

const { text, includeJobs } = workerData as Task
const port = parentPort!

const readFile: ReadFile = (path) =>
  new Promise((resolve) => {
    port.once('message', (file: ToThread) => resolve(file))
    port.postMessage({ read: path } satisfies FromThread)
  })

port.postMessage({ lint: await lintPipeline(text, readFile, { includeJobs }) } satisfies FromThread)
port.close()
