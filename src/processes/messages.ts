import type { Config } from '../config.ts'
import type { Credentials, Services } from './app-module.ts'

/** From the primary to a worker or the jobs process. */
export type Order =
  | { kind: 'prepare'; config: Config; databaseUrl: string }
  | { kind: 'start'; config: Config; services: Services }
  | { kind: 'stop'; graceMs: number }

/** From a worker or the jobs process to the primary. */
export type Report =
  | { kind: 'loaded' }
  | { kind: 'progress'; line: string }
  | { kind: 'prepared'; credentials: Credentials | undefined }
  | { kind: 'ready' }
  | { kind: 'failed'; sentence: string }
