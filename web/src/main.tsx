import { render } from "preact";

import "./style/fonts.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/shell.css";
import "./style/learn.css";
import "./style/row.css";
import "./style/chapters.css";
import "./style/plan.css";
import "./style/watch.css";

import { Shell } from "./shell";
import { SettingsProvider } from "./ui/settings";

render(
  <SettingsProvider>
    <Shell />
  </SettingsProvider>,
  document.getElementById("page")!,
);
