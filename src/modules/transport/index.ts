export { type Access, gitAccess, protocolRefusal } from './git-transport/access.ts'
export { repositoryPath, type Service } from './git-transport/address.ts'
export { findProjectAround } from './git-transport/queries.ts'
export { receivePush } from './git-transport/receive.ts'
