export { findPicture, type PictureName, pictures } from './appearance/queries.ts'
