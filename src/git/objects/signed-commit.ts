import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { readObject } from './read-object.ts'

export type SignedCommit = {
  /** The signed bytes: the commit without its signatures. */
  readonly payload: Buffer
  /** Armoured, without the blanks of continuation lines. Git creates at most one; a commit may contain several. */
  readonly signatures: readonly string[]
}

/** Larger commits are treated as missing (commits.ts). */
const maxCommitBytes = 8 * 1024 * 1024

/** Splits a commit into the signed bytes and the signatures. `undefined` if the repository has no such commit. */
export async function readSignedCommit(repo: Repository, oid: Oid): Promise<SignedCommit | undefined> {
  const found = await readObject(repo, oid, maxCommitBytes, 'commit')
  return found?.content && splitSignatures(found.content)
}

/** Like git: removes every header that begins with `gpgsig`, also `gpgsig-sha256`; those named `gpgsig` are the signatures. */
export function splitSignatures(content: Buffer): SignedCommit {
  const payload: Buffer[] = []
  const signatures: string[] = []
  let at = 0
  /** The kind of header that a continuation line belongs to. */
  let within: 'signature' | 'other_signature' | 'header' = 'header'
  while (at < content.length && content[at] !== newline) {
    const end = content.indexOf(newline, at)
    const next = end < 0 ? content.length : end + 1
    const line = content.subarray(at, next)
    if (line[0] !== blank) within = kindOf(line)
    if (within === 'header') payload.push(line)
    else if (within === 'signature') {
      if (line[0] !== blank) signatures.push(line.toString('latin1', signatureStart.length))
      else signatures[signatures.length - 1] += line.toString('latin1', 1)
    }
    at = next
  }
  payload.push(content.subarray(at))
  return { payload: Buffer.concat(payload), signatures }
}

const newline = 10
const blank = 32

const signatureStart = 'gpgsig '

function kindOf(line: Buffer) {
  if (line.toString('latin1', 0, signatureStart.length) === signatureStart) return 'signature'
  return line.toString('latin1', 0, 'gpgsig'.length) === 'gpgsig' ? 'other_signature' : 'header'
}
