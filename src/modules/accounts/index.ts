export { type Identity, readKeyBlock } from './gpg-keys/public-key.ts'
export { findOauthToken } from './oauth/queries.ts'
export { grantByPassword, grantByRefresh, type Refused, revoke, type TokenAnswer } from './oauth/service.ts'
export { type GitTransport, type SignInRefusal, signIn } from './sign-in/service.ts'
export {
  authenticateForKey,
  deployKeyActor,
  findKeyHolder,
  type KeyHolder,
  keyRefusal,
} from './ssh-keys/authenticate.ts'
export { presentSshKey, sshKeyFields } from './ssh-keys/entity.ts'
export { parsePublicKey, sha256Of } from './ssh-keys/public-key.ts'
export {
  deletePublicKey,
  findKey,
  isKnownKey,
  makePublic,
  type SshKeyRow,
  sshKeyRow,
  updateTitle,
} from './ssh-keys/queries.ts'
export { addKey, type KeyInput, titleViolations } from './ssh-keys/service.ts'
export { asAccount, asAccounts } from './tokens/as-account.ts'
export {
  type Authentication,
  accountRefusal,
  actorOf,
  authenticateDerived,
  credentialOf,
  type DerivedCredential,
  gitRefusals,
  type Refusal,
  TokenAuthenticator,
} from './tokens/authenticate.ts'
export { bootstrap, type RootCredentials } from './tokens/bootstrap.ts'
export { endingLines } from './tokens/ending.ts'
export { type EndingToken, endingCause, endingTokens, endsSoon } from './tokens/ending-queries.ts'
export { tokenFields, tokenRecord } from './tokens/entity.ts'
export { newTokenParams, rotationParams } from './tokens/params.ts'
export { findAccount, findAccounts, lockFamilyOf, revokeToken, tokenColumns, tokenRow } from './tokens/queries.ts'
export { createToken, createTokenAs, refuseReuse, rotateToken, tokenExpiry, tokenScopes } from './tokens/service.ts'
export { resealTwoFactors } from './two-factor/reseal-queries.ts'
export { isTwoFactorEnabled, recoverCodes, requirePassword } from './two-factor/service.ts'
export { hasCustomAttributes } from './users/attribute-queries.ts'
export { AuthorSchema, authorRecord } from './users/author-entity.ts'
export { type AuthorRow, authorJson } from './users/author-queries.ts'
export { callerSignature, privateEmailHost, signatureOfOther } from './users/commit-email.ts'
export { addressesOf, addressesOfUsers, type OwnAddress, usersOfCommits } from './users/committers.ts'
export { editUser } from './users/edit.ts'
export { isConfirmedAddress, ownedAddresses, ownsEmail } from './users/email-queries.ts'
export { customAttributes, UserListItem, UserReferenceSchema, userReference } from './users/entity.ts'
export { keepAnAdministrator } from './users/last-administrator.ts'
export { askForPassword, choosePassword, confirmByLink, isLink } from './users/links.ts'
export { plainUser } from './users/new-user.ts'
export { operatorActions } from './users/operator.ts'
export { peopleInBatches } from './users/overview-queries.ts'
export { matchPeople, portablePeople } from './users/portable-queries.ts'
export {
  findUser,
  findUserByName,
  listUsers,
  openTo,
  type UserReferenceRow,
  type UserRow,
  userReferenceColumns,
  userReferenceJson,
  userReferenceOf,
  userReferenceRow,
  userRow,
} from './users/queries.ts'
export { blockAccounts, deleteAccount, deleteCredentials, insertBot, makePlaceholder } from './users/removal-queries.ts'
export { addUser, isEmailAddress } from './users/service.ts'
export { isLeaving } from './users/state-queries.ts'
export { isPrivateTo, refuseGhost, requireVisiblePeople, user, userByIdOrName } from './users/subject.ts'
