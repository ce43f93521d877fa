import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The file system in memory that Linux has. */
const memory = '/dev/shm'

/** What a run of all tests may leave in temporary files before it ends, with as much again for others, in bytes. */
const neededBytes = 8 * 1024 ** 3

/**
 * A folder for the temporary files of a run: in memory where there is enough of it and programs may run from there, else where
 * temporary files usually are. Tests make and delete many thousand files, which a disk makes expensive.
 */
export function scratchFolder(): string {
  if (hasRoom()) {
    const folder = mkdtempSync(join(memory, 'stithy-test-'))
    if (mayRunFrom(folder)) return openToAll(folder)
    rmSync(folder, { recursive: true })
  }
  return openToAll(mkdtempSync(join(tmpdir(), 'stithy-test-')))
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    accessSync(memory, constants.W_OK)
    return Math.min(bavail * bsize, freemem()) >= neededBytes
  } catch {
    return false
  }
}

/** Git runs hooks from data folders; some systems forbid that in memory (`noexec`). */
function mayRunFrom(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}

/** PostgreSQL runs as another user when we are root. */
function openToAll(folder: string): string {
  chmodSync(folder, 0o755)
  return folder
}
