import { statfs } from 'node:fs/promises'
import { inMegabytes } from '../kernel/amounts.ts'
import { Failure } from '../kernel/failure.ts'
import { isDiskFull } from '../kernel/full-disk.ts'

/** Bytes that this user can still write to the disk of a folder. */
async function roomIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Fails if a backup of this size, in bytes, certainly does not fit into a folder: indexes and logs of the database need more. */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const room = await roomIn(folder)
  if (room < bytes)
    throw new Failure(
      'storage_full',
      `There is not enough room for the backup in ${folder}: it has ${inMegabytes(bytes)}, and ${inMegabytes(room)} are free.`,
    )
}

/** PostgreSQL ends, for whatever reason it then gives, when it cannot create a segment of its log: 16 MiB. */
const leastBytes = 16 * 2 ** 20

/** Whether an error says that a disk is full, in its text at least: the creation of a database leaves only what it said, and a child a sentence. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.includes('No space left on device') ||
    isDiskFull(error) ||
    (error instanceof Failure && error.kind === 'storage_full') ||
    isFull(error.cause))

const isFullAt = async (dataDir: string): Promise<boolean> =>
  (await roomIn(dataDir).catch(() => Number.POSITIVE_INFINITY)) < leastBytes

/** Whether PostgreSQL ends, or does not start with an error, because the disk of the data folder is full. */
export const databaseLacksRoom = async (error: unknown, dataDir: string): Promise<boolean> =>
  isFull(error) || (await isFullAt(dataDir))

/** The error of a restore into a data folder; if the cause is a full disk, one that says so. */
export async function explainFullDisk(error: unknown, dataDir: string): Promise<unknown> {
  const isHere = await isFullAt(dataDir)
  if (!isHere && !isFull(error)) return error
  return new Failure(
    'storage_full',
    isHere
      ? `The disk of ${dataDir} is full: make room there, and repeat the restore.`
      : `The disk of ${dataDir}, of the database or of the blobs is full: make room there, and repeat the restore.`,
    { cause: error },
  )
}
