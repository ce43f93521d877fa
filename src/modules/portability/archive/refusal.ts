/** Why an archive is not imported. The message is for the user, and contains nothing of this machine. */
export class ArchiveRefusal extends Error {
  override name = 'ArchiveRefusal'
}
