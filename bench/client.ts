import { type Load, type Measured, run } from './load.ts'
import { answerLoads, LoadProcess } from './load-process.ts'

/** Generates the load of one list of requests. */
export class Client extends LoadProcess<Load, Measured> {
  constructor() {
    super(import.meta.url)
  }
}

answerLoads(import.meta.url, run)
