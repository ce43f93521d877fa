import { hash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isRunning } from './running.ts'

/** Process ids mean something on one machine, and in one container, only. */
const place = hash('sha1', `${hostname()} ${processSpace()}`).slice(0, 8)

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Part of the name of a file that says which process made it. */
export const ownerMark = (): string => `${place}-${process.pid}`

const mark = /(?:^|-)([0-9a-f]{8})-(\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.|$)/

/**
 * Whether the process that made a file is certainly gone: the name has its mark, followed by a UUID. False if another process has its id by now, or
 * it is of another machine or container.
 */
export function isOwnerGone(name: string): boolean {
  const [, where, pid] = mark.exec(name) ?? []
  return where === place && !isRunning(Number(pid))
}
