export { composedForCaller, forCaller } from './access-index/caller-queries.ts'
export {
  deleteAccessOf,
  deployKeyLevel,
  deployTokenLevel,
  groupLevel,
  groupWithinLimits,
  idsInside,
  insideOf,
  namespacesOfMember,
  projectLevel,
  projectParts,
  projectWhere,
  projectWithinLimits,
  within,
} from './access-index/queries.ts'
export {
  clearEndedAccess,
  groupMemberChanged,
  lockAccess,
  lockAccessAtLast,
  lockAccessForNew,
  namespacePlaced,
  namespaceRemoved,
  projectPlaced,
  projectsMemberChanged,
} from './access-index/service.ts'
export { numberFor } from './audience-counts/queries.ts'
export { avatarUrl, gravatarUrl, pictureUrl } from './avatars/addresses.ts'
export { checkAvatars } from './avatars/check.ts'
export { contentTypeOf } from './avatars/image.ts'
export { type AvatarOwner, digestsOfAvatars, findAvatar, findOwnedAvatar, saveAvatar } from './avatars/queries.ts'
export { type Avatar, acceptAvatar } from './avatars/service.ts'
export { mayCreateProjects } from './namespaces/creation.ts'
export { namespacePicture, namespaceUrl } from './namespaces/entity.ts'
export { namespaceToFill, readableNamespace } from './namespaces/find.ts'
export {
  deleteNamespace,
  insertGroup,
  limitNamespaceVisibility,
  lockSharingBelow,
  markGroupForDeletion,
  markNamespacesDeleting,
  moveTree,
  unmarkGroupForDeletion,
  updateNamespace,
} from './namespaces/group-queries.ts'
export {
  fullPathViolations,
  groupNameViolations,
  namespacePathViolations,
  pathFromName,
  projectNameViolations,
  projectPathViolations,
} from './namespaces/names.ts'
export {
  claimRoute,
  findNamespace,
  findNamespaceByPath,
  insertUserNamespace,
  lockNamespace,
  type NamespaceRow,
  type NamespaceWithLevel,
  newRunnersToken,
  personalNamespaceOf,
  retireProjectRoute,
} from './namespaces/queries.ts'
export {
  lockPersonalNamespace,
  renamePersonalNamespace,
  renameTree,
  retireRoutes,
} from './namespaces/rename-queries.ts'
export { restrictedVisibility } from './namespaces/restricted-visibility.ts'
export {
  groupsAroundProjectsOfMember,
  groupsFromMemberships,
  groupsOfMember,
  numberOfOpenGroups,
  openGroups,
  visibleGroupParts,
  visibleGroups,
} from './namespaces/visible-groups-queries.ts'
