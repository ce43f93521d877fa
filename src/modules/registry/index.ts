export {
  mayListCatalog,
  type Place,
  placeIfAllowed,
  type RegistryAction,
} from './access/access.ts'
export { checkLayers } from './blobs/check.ts'
export { deleteBlob, mountBlob, readBlob } from './blobs/service.ts'
export { catalogAfter } from './images/queries.ts'
export { InvalidManifest } from './manifests/parse.ts'
export { findManifest, findManifestHead, type Reference, referrersOf } from './manifests/queries.ts'
export { deleteReference, MissingParts, putManifest, WrongDigest } from './manifests/service.ts'
export { type ContentDigest, parsePrefixedDigest, prefixed } from './names/digests.ts'
export { isRepositoryName, isTagName } from './names/names.ts'
export { imageRelations } from './portable/queries.ts'
export { ImportedImages, restoreImages } from './portable/restore.ts'
export { tagNamesAfter } from './tags/queries.ts'
export { grantToken } from './tokens/service.ts'
export { type Access, readToken, service as registryService } from './tokens/web-token.ts'
export type { Upload } from './uploads/queries.ts'
export {
  beginUpload,
  completeUpload,
  endUpload,
  extendUpload,
  findUpload,
  UploadConflict,
  UploadGone,
  WrongSize,
} from './uploads/service.ts'
