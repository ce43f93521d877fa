export type SignatureFormat = 'PGP' | 'SSH' | 'X509'

const armorHeaders: readonly (readonly [start: string, format: SignatureFormat])[] = [
  ['-----BEGIN PGP SIGNATURE-----', 'PGP'],
  ['-----BEGIN PGP MESSAGE-----', 'PGP'],
  ['-----BEGIN SSH SIGNATURE-----', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----', 'X509'],
]

/** Format of an armoured signature; `undefined` if git does not recognise one. */
export const formatOf = (signature: string): SignatureFormat | undefined =>
  armorHeaders.find(([start]) => signature.startsWith(start))?.[1]

/**
 * Whether a commit is signed, validly or not: `isSigned(await readCommit(repo, oid))`. For rules that refuse unsigned
 * commits.
 */
export const isSigned = ({ signature }: { readonly signature: string | undefined }): boolean =>
  signature !== undefined && formatOf(signature) !== undefined
