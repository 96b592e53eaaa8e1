export function checkLinks(_folder) {
  return [];
}
