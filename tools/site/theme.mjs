import { DefaultTheme } from "typedoc";
export class HoldfastTheme extends DefaultTheme {}
