import { render } from "preact";

import "./style/fonts.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/quantity.css";
import "./style/shell.css";
import "./style/learn.css";
import "./style/row.css";
import "./style/wires.css";
import "./style/tables.css";
import "./style/line.css";
import "./style/time.css";
import "./style/plan.css";
import "./style/watch.css";
import "./style/filter.css";
import "./style/docs.css";

import { Shell } from "./shell";
import { SettingsProvider } from "./ui/settings";

render(
  <SettingsProvider>
    <Shell />
  </SettingsProvider>,
  document.getElementById("page")!,
);
