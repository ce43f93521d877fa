import type { Config } from '../config.ts'
import type { Busy } from '../kernel/activity.ts'
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
  /** While the process stops: what it waits for. */
  | { kind: 'busy'; busy: Busy }
  /** `isSetting`: because of a setting, so that another attempt fails, too. */
  | { kind: 'failed'; sentence: string; isSetting: boolean }
