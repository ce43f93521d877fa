import type { Db } from '../../../db/db.ts'
import { parseObjectText } from '../../../git/format/object-text.ts'
import { parseSignature } from '../../../git/objects/signature.ts'
import { formatOf, type SignatureFormat } from '../../../git/objects/signature-format.ts'
import type { SignedCommit } from '../../../git/objects/signed-commit.ts'
import { readKeyBlock } from '../../accounts/index.ts'
import { type PgpSignature, parsePgpSignature, verifiesPgp } from './pgp.ts'
import {
  findPgpSigners,
  findSshSigner,
  type Judgement,
  type PgpSignerRow,
  type SshSignerRow,
  type VerificationStatus,
} from './queries.ts'
import { parseSshSignature, type SshSignature, verifiesSsh } from './ssh.ts'

/** A verification result with the keys and addresses it is based on, as text: it is outdated when they change. */
export type Grounds = { readonly judgement: Judgement; readonly basis: string }

const unread = (type: SignatureFormat, status: VerificationStatus = 'unverified'): Judgement => ({
  type,
  status,
  signer: null,
  gpg_key_id: null,
  gpg_subkey_id: null,
  ssh_key_id: null,
  primary_key_id: null,
  user_name: null,
  user_email: null,
})

/**
 * Verifies the signature of a commit with the known keys; `privateHost` is the host of private commit addresses.
 * `undefined` without a signature. Several signatures verify nothing, because they are independent; nor do X.509
 * signatures, because no authorities are trusted.
 */
export async function judge(
  db: Db,
  { payload, signatures }: SignedCommit,
  privateHost: string,
): Promise<Grounds | undefined> {
  const [armored, ...others] = signatures
  const type = armored === undefined ? undefined : formatOf(armored)
  if (armored === undefined || !type) return undefined
  const plain = { judgement: unread(type), basis: '' }
  if (others.length > 0 || type === 'X509') return plain
  const { email, seconds } = parseSignature(parseObjectText(payload).headers.get('committer')?.[0] ?? '')
  // PostgreSQL rejects NUL.
  const committer = { email: email.replaceAll('\0', ''), privateHost }
  if (type === 'PGP') {
    const signature = await parsePgpSignature(armored)
    if (!signature) return plain
    const signers = await findPgpSigners(db, signature.keyId, committer)
    return { judgement: await judgePgp(signature, signers, payload, email), basis: JSON.stringify(signers) }
  }
  const signature = parseSshSignature(armored)
  if (!signature) return plain
  const signer = await findSshSigner(db, signature.fingerprint, timeOf(seconds), committer)
  return { judgement: judgeSsh(signature, signer, payload, email), basis: JSON.stringify(signer ?? null) }
}

/** Git stores times that the database does not: they are before or after all keys. */
const timeOf = (seconds: number): Date => new Date(Math.min(Math.max(seconds, 0), lastSecond) * 1000)
const lastSecond = Date.parse('9999-12-31T23:59:59Z') / 1000

async function judgePgp(
  signature: PgpSignature,
  signers: readonly PgpSignerRow[],
  payload: Buffer,
  email: string,
): Promise<Judgement> {
  const unknown = { ...unread('PGP', 'unknown_key'), signer: signature.keyId, primary_key_id: signature.keyId }
  let first: Judgement | undefined
  for (const signer of signers) {
    const { name, email: shown } = ownIdentities(signer)[0] ?? signer.identities[0]!
    const key = await readKeyBlock(signer.key)
    const valid = key !== undefined && (await verifiesPgp(signature, key, payload))
    const judgement = {
      ...unknown,
      status: pgpStatus(signer, valid, email.toLowerCase()),
      gpg_key_id: signer.id,
      gpg_subkey_id: signer.subkey_id,
      primary_key_id: signer.key_id,
      user_name: name,
      user_email: shown,
    }
    if (valid) return judgement
    first ??= judgement
  }
  return first ?? unknown
}

/** Identities of a key that are confirmed addresses of its owner. */
const ownIdentities = ({ identities, addresses }: PgpSignerRow) =>
  identities.filter(({ email }) => addresses.includes(email.toLowerCase()))

function pgpStatus(signer: PgpSignerRow, valid: boolean, committer: string): VerificationStatus {
  const own = ownIdentities(signer)
  if (own.length === 0) return 'unverified_key'
  if (!valid) return 'unverified'
  if (own.some(({ email }) => email.toLowerCase() === committer)) return 'verified'
  return signer.addresses.includes(committer) ? 'same_user_different_email' : 'other_user'
}

function judgeSsh(
  signature: SshSignature,
  signer: SshSignerRow | undefined,
  payload: Buffer,
  email: string,
): Judgement {
  const unknown = { ...unread('SSH', 'unknown_key'), signer: signature.fingerprint }
  if (!signer) return unknown
  const status =
    signer.expired || !verifiesSsh(signature, signer.key, payload)
      ? 'unverified'
      : signer.addresses.includes(email.toLowerCase())
        ? 'verified'
        : 'other_user'
  return { ...unknown, status, ssh_key_id: signer.id }
}
