import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { syncFolderNow } from '../kernel/durable.ts'
import { unfinishedRestoreFile } from './data-dir.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { systemReason } from './explain.ts'

const data = findings('Data folder')
const disk = findings('Disk')

/** Free bytes below which pushes may soon fail, and below which PostgreSQL may stop. */
const littleSpace = 2 * 2 ** 30
const noSpace = 200 * 2 ** 20
/** Share of inodes that should be free. */
const fewInodes = 0.05

/** Whether the data folder belongs to this user, is private, has space and makes files durable. */
export async function checkDataFolder({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding[]> {
  const facts = statSync(dataDir, { throwIfNoEntry: false })
  if (facts === undefined) {
    const parent = existingParent(dataDir)
    return [
      ...writable(parent, `${dataDir} does not exist yet, and the first start creates it`),
      ...(await checkDisk(parent)),
    ]
  }
  if (!facts.isDirectory())
    return [data.failed(`${dataDir} is not a folder`, 'Set STITHY_DATA_DIR to a folder that only Stithy uses.')]
  return [
    ...ownership(dataDir, facts),
    ...unfinishedRestore(dataDir),
    ...writable(dataDir, `${dataDir}: rename and fsync work`),
    ...(await checkDisk(dataDir)),
  ]
}

function ownership(dataDir: string, { uid, mode }: { uid: number; mode: number }): Finding[] {
  const own = process.getuid?.()
  if (own !== undefined && own !== 0 && uid !== own)
    return [
      data.failed(
        `${dataDir} belongs to user ${uid}, and this is user ${own}`,
        `Run this command as the user of the service, or change the owner: chown -R ${own} ${dataDir}`,
      ),
    ]
  return (mode & 0o077) === 0
    ? []
    : [
        data.warning(
          `other users have permissions on ${dataDir}`,
          `Run: chmod -R go-rwx ${dataDir} (a start does it, too).`,
        ),
      ]
}

const unfinishedRestore = (dataDir: string): Finding[] =>
  existsSync(unfinishedRestoreFile(dataDir))
    ? [
        data.failed(
          `the restore into ${dataDir} has not been completed, and nothing starts there`,
          'Wait for it if it is running; otherwise repeat it, or delete the folder.',
        ),
      ]
    : []

/** Writes, syncs and renames a file in a folder of its own, which it removes. */
function writable(folder: string, text: string): Finding[] {
  let own: string | undefined
  try {
    own = mkdtempSync(join(folder, '.doctor-'))
    const [partial, file] = [join(own, 'partial'), join(own, 'file')]
    const handle = openSync(partial, 'wx', 0o600)
    writeSync(handle, 'doctor')
    fsyncSync(handle)
    closeSync(handle)
    renameSync(partial, file)
    syncFolderNow(own)
    if (readdirSync(own).join() !== 'file') throw new Error('a renamed file is missing')
    return [data.ok(text)]
  } catch (error) {
    return [
      data.failed(
        `cannot write to ${folder}: ${systemReason(error)}`,
        'Let the user of the service write there, or set STITHY_DATA_DIR; network file systems need rename and fsync.',
      ),
    ]
  } finally {
    if (own !== undefined) rmSync(own, { recursive: true, force: true })
  }
}

async function checkDisk(folder: string): Promise<Finding[]> {
  const { bavail, bsize, blocks, files, ffree } = await statfs(folder)
  return assessDisk({ folder, free: bavail * bsize, size: blocks * bsize, inodes: files, freeInodes: ffree })
}

type Disk = { folder: string; free: number; size: number; inodes: number; freeInodes: number }

/** Sizes in bytes. File systems that create inodes on demand report 0 of them. */
export function assessDisk({ folder, free, size, inodes, freeInodes }: Disk): Finding[] {
  const text = `${inGigabytes(free)} of ${inGigabytes(size)} are free at ${folder}`
  const space =
    free < noSpace
      ? disk.failed(text, 'Free space now: PostgreSQL stops when it cannot write.')
      : free < littleSpace
        ? disk.warning(text, 'Free space or enlarge the disk: pushes fail when it is full.')
        : disk.ok(text)
  if (inodes === 0 || freeInodes / inodes >= fewInodes) return [space]
  return [
    space,
    disk.warning(
      `${freeInodes} of ${inodes} inodes are free at ${folder}`,
      'Move the data folder to a file system with more inodes.',
    ),
  ]
}

const inGigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

function existingParent(path: string): string {
  const parent = dirname(path)
  return statSync(parent, { throwIfNoEntry: false }) === undefined ? existingParent(parent) : parent
}
