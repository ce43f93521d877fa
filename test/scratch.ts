import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityOf } from '../src/processes/process-identity.ts'

/** The file system in memory that Linux has. */
const memory = '/dev/shm'

/** Memory that a run of all tests takes, half for its temporary files and half for its processes, and some for others, in bytes. */
const neededBytes = 15 * 1024 ** 3

const prefix = 'stithy-test-run-'

/** A file of each folder that says which process it is for. */
const ownerFile = 'owner.json'

type Owner = { pid: number; identity: string | undefined; namespace: string | undefined }

/**
 * A folder for the temporary files of a run: in memory where there is enough of it and programs may run from there, else where
 * temporary files usually are. Tests make and delete many thousand files, which a disk makes expensive. Folders of killed runs
 * are removed first: those in memory take it from the next run until the machine restarts.
 */
export function scratchFolder(): string {
  for (const parent of [memory, tmpdir()]) removeFoldersOfEndedRuns(parent)
  if (hasRoom()) {
    const folder = makeFolder(memory)
    if (mayRunFrom(folder)) return folder
    rmSync(folder, { recursive: true })
  }
  return makeFolder(tmpdir())
}

/** PostgreSQL runs as another user when we are root, so the folder is open to all. */
function makeFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, prefix))
  const owner: Owner = { pid: process.pid, identity: identityOf(process.pid), namespace: pidNamespace() }
  writeFileSync(join(folder, ownerFile), JSON.stringify(owner))
  chmodSync(folder, 0o755)
  return folder
}

function removeFoldersOfEndedRuns(parent: string): void {
  for (const name of namesIn(parent)) {
    const folder = join(parent, name)
    if (name.startsWith(prefix) && isOurs(folder) && hasEnded(folder)) remove(folder)
  }
}

/** The folder stays if a file system is mounted in it, as by a killed test of a full disk, until that is unmounted. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Node gives no code for it, so all errors are ignored: room in memory is all that is lost.
  }
}

const isOurs = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.()

/** Whether the process that a folder is for has ended. Those of other containers cannot be seen from here, so their folders stay. */
function hasEnded(folder: string): boolean {
  try {
    const { pid, identity, namespace } = JSON.parse(readFileSync(join(folder, ownerFile), 'utf8')) as Owner
    return namespace === pidNamespace() && identity !== identityOf(pid)
  } catch {
    // Another run makes or removes it at this moment.
    return false
  }
}

/** Tells containers apart that share a file system. Undefined where the system has no such thing. */
function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
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
