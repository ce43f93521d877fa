/** Binds the encrypted URL of an import to its project. */
export const urlPurpose = (projectId: number): string => `import address of project ${projectId}`
