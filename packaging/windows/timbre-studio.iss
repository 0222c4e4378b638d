; The installer for Windows.                                                                          NOT RUN YET
;
; Written from the documentation of Inno Setup 6.3, the first version with x64compatible. It has not been compiled or
; run on Windows yet. packaging/windows/build.py calls it:
;
;   ISCC.exe /DVersion=0.1.0 /DProgram=DIST\timbre-studio /DIcon=ICONS\timbre-studio.ico /DOutput=DIST timbre-studio.iss
;
; It installs for the current user, without administrator rights. The uninstaller removes all files of the program
; without questions. Voices, drafts, models and settings belong to the user and are kept.

#ifndef Version
  #error Version is not given: start packaging/windows/build.py
#endif
#ifndef Program
  #error Program, the folder that PyInstaller made, is not given: start packaging/windows/build.py
#endif
#define Name "Timbre Studio"
#define Window "Timbre Studio.exe"
#define Terminal "timbre.exe"

[Setup]
; Never changes, because a newer version finds the older one by it.
AppId={{6E0B8A52-4B0F-4C39-9C55-7D9F2E6A41C7}
AppName={#Name}
AppVersion={#Version}
AppVerName={#Name} {#Version}
AppPublisher=The makers of Timbre Studio
VersionInfoVersion={#Version}
VersionInfoDescription={#Name}
; Without administrator rights, "autopf" is %LocalAppData%\Programs.
PrivilegesRequired=lowest
DefaultDirName={autopf}\{#Name}
DisableProgramGroupPage=yes
; PyTorch and Qt require a 64-bit system, and Qt 6 requires Windows 10 version 1809.
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
; Held by the window and by commands (frozen/launcher.py): a running program is neither replaced nor removed.
AppMutex=TimbreStudioIsRunning
CloseApplications=yes
RestartApplications=no
ChangesAssociations=yes
SetupIconFile={#Icon}
UninstallDisplayName={#Name}
UninstallDisplayIcon={app}\{#Window}
OutputDir={#Output}
OutputBaseFilename=timbre-studio-{#Version}-windows-x64
Compression=lzma2/max
SolidCompression=yes
WizardStyle=modern
ShowLanguageDialog=auto
#ifdef Sign
; "timbre" is the name of the signing command in build.py (ISCC /Stimbre=...), which also signs the uninstaller.
SignTool=timbre
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
; Not all releases of Inno Setup include it.
#if FileExists(AddBackslash(CompilerPath) + "Languages\ChineseSimplified.isl")
Name: "zh"; MessagesFile: "compiler:Languages\ChineseSimplified.isl"
#endif

[CustomMessages]
en.OpenFiles=Open scripts (.timbre) and voices (.voice) with {#Name}
en.Script=Timbre script
en.Voice=Timbre voice
#if FileExists(AddBackslash(CompilerPath) + "Languages\ChineseSimplified.isl")
zh.OpenFiles=用 {#Name} 打开脚本（.timbre）和声音（.voice）
zh.Script=Timbre 脚本
zh.Voice=Timbre 声音
#endif

[Tasks]
Name: "open"; Description: "{cm:OpenFiles}"
Name: "desktop"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[InstallDelete]
; Otherwise the new version would load libraries of the old one.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Program}\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{autoprograms}\{#Name}"; Filename: "{app}\{#Window}"
Name: "{autodesktop}\{#Name}"; Filename: "{app}\{#Window}"; Tasks: desktop

[Registry]
; HKA is the user's part of the registry here. The entries offer the program; the user chooses the default.
; The uninstaller removes entries in reverse order, and then the keys that are empty.
Root: HKA; Subkey: "Software\Classes\.timbre"; Flags: uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\.timbre\OpenWithProgids"; ValueType: string; ValueName: "TimbreStudio.Script"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script"; ValueType: string; ValueName: ""; ValueData: "{cm:Script}"; Flags: uninsdeletekey; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Window},0"; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Script\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\{#Window}"" app ""%1"""; Tasks: open
Root: HKA; Subkey: "Software\Classes\.voice"; Flags: uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\.voice\OpenWithProgids"; ValueType: string; ValueName: "TimbreStudio.Voice"; ValueData: ""; Flags: uninsdeletevalue uninsdeletekeyifempty; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice"; ValueType: string; ValueName: ""; ValueData: "{cm:Voice}"; Flags: uninsdeletekey; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Window},0"; Tasks: open
Root: HKA; Subkey: "Software\Classes\TimbreStudio.Voice\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\{#Window}"" app ""%1"""; Tasks: open
; Makes `timbre` available in Windows+R. In a terminal, run {#Terminal} in the folder of the program.
Root: HKA; Subkey: "Software\Microsoft\Windows\CurrentVersion\App Paths\{#Terminal}"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Terminal}"; Flags: uninsdeletekey

[Run]
Filename: "{app}\{#Window}"; Description: "{cm:LaunchProgram,{#Name}}"; Flags: nowait postinstall skipifsilent

[UninstallDelete]
; Installed files are removed automatically. This entry removes files that libraries may have written there.
Type: filesandordirs; Name: "{app}\_internal"
