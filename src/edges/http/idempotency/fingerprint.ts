import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { RawParams } from '../../../api/params/raw.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'

/** Parameters that hold the credential: a repeat may use another one of the same user. */
const credentials = new Set(['private_token', 'access_token', 'job_token'])

/**
 * Digest of what a request asks for: method, path and parameters, wherever they stand and in whatever order. Reads uploaded
 * files. Everything else, such as headers, may differ in a repeat.
 */
export async function fingerprintOf(method: string, path: string, params: RawParams): Promise<string> {
  const digest = createHash('sha256')
  digest.update(`${method} ${path}\n`)
  for (const piece of await piecesOf(params, 0)) digest.update(piece)
  return digest.digest('hex')
}

async function piecesOf(value: unknown, depth: number): Promise<string[]> {
  if (value instanceof UploadedFile) return [`file ${value.filename} ${await digestOfFile(value.path)};`]
  if (Array.isArray(value)) {
    const pieces = ['[']
    for (const each of value) pieces.push(...(await piecesOf(each, depth + 1)))
    return [...pieces, ']']
  }
  if (typeof value === 'object' && value !== null) {
    const pieces = ['{']
    for (const name of Object.keys(value).sort()) {
      if (depth === 0 && credentials.has(name)) continue
      pieces.push(`${JSON.stringify(name)}:`)
      for (const piece of await piecesOf((value as Record<string, unknown>)[name], depth + 1)) pieces.push(piece)
    }
    return [...pieces, '}']
  }
  return [`${JSON.stringify(value) ?? 'undefined'};`]
}

async function digestOfFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}

/** Digest of a key, which is stored instead of it. */
export const digestOfKey = (key: string): string => hash('sha256', key, 'hex')
