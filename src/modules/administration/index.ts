export { findPicture, type PictureName, pictures } from './appearance/queries.ts'
export { openSettings, resealSettings } from './application-settings/sealing.ts'
export { unreferenced } from './blob-collection/queries.ts'
